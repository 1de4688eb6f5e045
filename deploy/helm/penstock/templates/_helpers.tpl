{{- define "penstock.name" -}}
{{- if contains "penstock" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}{{ printf "%s-penstock" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "penstock.selector" -}}
app.kubernetes.io/name: penstock
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "penstock.labels" -}}
{{ include "penstock.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "penstock.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Whether a store is shared, and so has a schema that a job migrates. */}}
{{- define "penstock.migrates" -}}
{{- $mariadb := dig "store" "mariadb" "url" "" .Values.config }}
{{- if and .Values.migrate.enabled (or (eq .Values.store "postgres") $mariadb) }}yes{{ end }}
{{- end }}

{{/* What values.schema.json cannot say. */}}
{{- define "penstock.check" -}}
{{- if and (eq .Values.store "embedded") (gt (int .Values.replicas) 1) }}
{{- fail "replicas: the embedded store serves one pod; set store: postgres for more" }}
{{- end }}
{{- if and (eq .Values.store "embedded") .Values.postgres.url }}
{{- fail "postgres.url: set store: postgres with it" }}
{{- end }}
{{- range $key := list "listen" "tls" }}
{{- if hasKey (dig "http" dict $.Values.config) $key }}
{{- fail (printf "config.http.%s: the chart serves plain HTTP on port 8080; end TLS in front of it" $key) }}
{{- end }}
{{- end }}
{{- range $key := list "auth" "data-dir" "resp" }}
{{- if hasKey $.Values.config $key }}
{{- fail (printf "config.%s: the chart sets it from values of its own" $key) }}
{{- end }}
{{- end }}
{{- end }}

{{/* penstock.yaml: the settings of the user, and those that follow from the shape of the pods. */}}
{{- define "penstock.config" -}}
{{- $set := dict
  "http" (dict "listen" "0.0.0.0:8080")
  "data-dir" "/var/lib/penstock"
  "auth" (dict "admin-token-file" "/run/penstock/auth/admin-token"
               "api-token-file" "/run/penstock/auth/api-token" "open-metrics" true) }}
{{- if eq .Values.store "postgres" }}
{{- $postgres := dict "url" .Values.postgres.url }}
{{- if .Values.postgres.passwordSecret.name }}
{{- $_ := set $postgres "password-file" "/run/penstock/postgres/password" }}
{{- end }}
{{- $_ := set $set "store" (dict "postgres" $postgres) }}
{{- end }}
{{- if .Values.redis.url }}
{{- $redis := dict "url" .Values.redis.url }}
{{- if .Values.redis.passwordSecret.name }}
{{- $_ := set $redis "password-file" "/run/penstock/redis/password" }}
{{- end }}
{{- $_ := set $set "store" (merge (dict "redis" $redis) (get $set "store" | default dict)) }}
{{- end }}
{{- if .Values.resp.enabled }}
{{- $_ := set $set "resp" (dict "listen" "0.0.0.0:6380" "password-file" "/run/penstock/resp/password") }}
{{- end }}
{{- toYaml (mergeOverwrite (deepCopy .Values.config) $set) }}
{{- end }}

{{- define "penstock.secretVolume" -}}
- name: {{ .volume }}
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
    items:
      {{- range $key, $path := .items }}
      - {key: {{ $key }}, path: {{ $path }}}
      {{- end }}
{{- end }}

{{- define "penstock.secretVolumes" -}}
{{ include "penstock.secretVolume" (dict "volume" "auth" "secret" .Values.auth.secretName
  "items" (dict .Values.auth.adminTokenKey "admin-token" .Values.auth.apiTokenKey "api-token")) }}
{{- range $name := list "postgres" "redis" "resp" }}
{{- $reference := (get $.Values $name).passwordSecret }}
{{- if $reference.name }}
{{ include "penstock.secretVolume" (dict "volume" $name "secret" $reference.name
  "items" (dict $reference.key "password")) }}
{{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "penstock.mounts" -}}
- {name: config, mountPath: /etc/penstock, readOnly: true}
- {name: auth, mountPath: /run/penstock/auth, readOnly: true}
{{- range $name := list "postgres" "redis" "resp" }}
{{- if (get $.Values $name).passwordSecret.name }}
- {name: {{ $name }}, mountPath: /run/penstock/{{ $name }}, readOnly: true}
{{- end }}
{{- end }}
- {name: data, mountPath: /var/lib/penstock}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "penstock.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "penstock.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

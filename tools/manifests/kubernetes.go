package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

// Every document must be of a kind that Kubernetes (or the Prometheus operator) has, and have no field that this
// kind does not have, none twice, and none of a wrong type.
func checkKubernetes(input io.Reader) error {
	if err := monitoring.AddToScheme(scheme.Scheme); err != nil {
		return err
	}
	strict := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme.Scheme, scheme.Scheme,
		serializer.SerializerOptions{Yaml: true, Strict: true})
	documents := yaml.NewDocumentDecoder(io.NopCloser(input))
	buffer := make([]byte, 1<<20) // a manifest may have at most about this in a cluster, too
	var problems []error
	var objects []runtime.Object
	for number := 1; ; number++ {
		count, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("document %d: %w", number, err)
		}
		if isEmpty(buffer[:count]) {
			continue
		}
		object, _, err := strict.Decode(buffer[:count], nil, nil)
		if err != nil {
			problems = append(problems, fmt.Errorf("document %d: %w\n%s", number, err, buffer[:count]))
			continue
		}
		objects = append(objects, object)
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	if len(objects) == 0 {
		return errors.New("no manifest on standard input")
	}
	return json.NewEncoder(os.Stdout).Encode(objects)
}

// Whether a document holds nothing but comments and white space, as templates that are switched off leave it.
func isEmpty(document []byte) bool {
	var value any
	return yaml.Unmarshal(document, &value) == nil && value == nil
}

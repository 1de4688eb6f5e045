// Slot configs: how many events a window takes.
import { useState } from "preact/hooks";
import { get, list, post, segment } from "../api";
import { EditDialog, HistoryDialog, type Past } from "../dialogs";
import { changes } from "../diff";
import { count, instant, isoMillis, number, perSecond, seconds } from "../format";
import { Empty, Field, Loading, Panel, Problem, useLoad } from "../ui";

export interface SlotConfig {
  configName: string;
  maxPerWindow: number;
  windowSize: string;
  pool: string;
  version: number;
  active: boolean;
  effectiveFrom: string;
}

export const loadSlotConfigs = () => list<SlotConfig>("/admin/rate-limit/configs", (config) => config.configName);

function Editor(props: { config: SlotConfig | undefined; onClose: () => void; onSaved: () => void }) {
  const [name, setName] = useState(props.config?.configName ?? "default");
  const [most, setMost] = useState(props.config?.maxPerWindow ?? 100);
  const [size, setSize] = useState(props.config ? isoMillis(props.config.windowSize) / 1000 : 4);
  const [pool, setPool] = useState(props.config?.pool ?? "");
  const save = () => post("/admin/rate-limit/config", { configName: name, maxPerWindow: most, windowSize: `PT${size}S`, pool: pool || null });
  return (
    <EditDialog title={props.config ? `Edit ${props.config.configName}` : "New slot config"} save={save} onSaved={props.onSaved} onClose={props.onClose}>
      <Field label="Name">
        <input name="configName" required maxLength={128} disabled={!!props.config} value={name} onInput={(e) => setName(e.currentTarget.value)} />
      </Field>
      <Field label="Most per window" hint="events">
        <input name="maxPerWindow" type="number" min={1} required value={most} onInput={(e) => setMost(Number(e.currentTarget.value))} />
      </Field>
      <Field label="Window size" hint="seconds; cannot change while the pool holds slots in windows to come">
        <input name="windowSize" type="number" min={0.001} step="any" required value={size} onInput={(e) => setSize(Number(e.currentTarget.value))} />
      </Field>
      <Field label="Pool" hint="Configs of one pool share their windows. Empty: one of its own.">
        <input name="pool" maxLength={128} value={pool} onInput={(e) => setPool(e.currentTarget.value)} />
      </Field>
    </EditDialog>
  );
}

async function loadPast(name: string): Promise<Past[]> {
  const versions = await get<SlotConfig[]>(`/admin/rate-limit/config/history?name=${segment(name)}`);
  return versions.map((version, i, all) => ({
    at: instant(version.effectiveFrom),
    title: `Version ${version.version}`,
    changes: changes(all[i + 1] ?? null, version, ["version", "effectiveFrom", "active"]),
  }));
}

export function SlotConfigsView() {
  const { value, error, reload } = useLoad(loadSlotConfigs, 0);
  const [search, setSearch] = useState("");
  const [edited, setEdited] = useState<SlotConfig | "new">();
  const [past, setPast] = useState<string>();
  const shown = (value ?? []).filter((config) => config.configName.toLowerCase().includes(search.toLowerCase()));
  return (
    <>
      <Panel
        title="Slot configs"
        aside={
          <>
            <input type="search" aria-label="Search slot configs" placeholder="Search names" value={search} onInput={(e) => setSearch(e.currentTarget.value)} />
            <button type="button" class="primary" onClick={() => setEdited("new")}>
              New slot config
            </button>
          </>
        }
      >
        <Problem error={error} />
        {!value && !error && <Loading />}
        {value && value.length === 0 && <Empty title="No slot config yet">Press New slot config to say how many events a window takes; then events can be assigned.</Empty>}
        {value && value.length > 0 && shown.length === 0 && <Empty title="Nothing found">No name holds “{search}”.</Empty>}
        {shown.length > 0 && (
          <div class="scroll">
            <table class="list">
              <thead>
                <tr>
                  <th>Name</th>
                  <th>Most</th>
                  <th>Window</th>
                  <th>At most</th>
                  <th>Pool</th>
                  <th>Version</th>
                  <th>
                    <span class="hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {shown.map((config) => (
                  <tr key={config.configName}>
                    <td class="mono">{config.configName}</td>
                    <td data-label="Most">{count(config.maxPerWindow, "event")} per window</td>
                    <td data-label="Window">{seconds(isoMillis(config.windowSize) / 1000)}</td>
                    <td data-label="At most">{perSecond((config.maxPerWindow * 1000) / isoMillis(config.windowSize))}</td>
                    <td class="mono" data-label="Pool">{config.pool}</td>
                    <td data-label="Version">
                      {number(config.version)} <span class="quiet">since {instant(config.effectiveFrom)}</span>
                    </td>
                    <td class="row-actions">
                      <button type="button" onClick={() => setEdited(config)}>
                        Edit
                      </button>
                      <button type="button" onClick={() => setPast(config.configName)}>
                        History
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
      {edited && <Editor config={edited === "new" ? undefined : edited} onClose={() => setEdited(undefined)} onSaved={reload} />}
      {past && <HistoryDialog name={past} load={() => loadPast(past)} onClose={() => setPast(undefined)} />}
    </>
  );
}

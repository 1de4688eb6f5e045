// Making an item type: where its items go, and how fast.
import { useState } from "preact/hooks";
import { put, segment } from "../api";
import { EditDialog } from "../dialogs";
import { Field } from "../ui";

interface SinkKind {
  type: string;
  label: string;
  settings: { name: string; label: string; type: "text" | "url" }[];
}

// Those that need no more than a line or two; the others are made by the API.
const SINKS: SinkKind[] = [
  { type: "log", label: "log: writes a line for each item", settings: [] },
  { type: "http", label: "HTTP: posts each item to a URL", settings: [{ name: "url", label: "URL", type: "url" }] },
  { type: "kafka", label: "Kafka: produces each item to a topic", settings: [{ name: "topic", label: "Topic", type: "text" }] },
  {
    type: "temporal",
    label: "Temporal: starts a workflow for each item",
    settings: [
      { name: "workflowType", label: "Workflow type", type: "text" },
      { name: "taskQueue", label: "Task queue", type: "text" },
    ],
  },
];

export function NewItemType(props: { onClose: () => void; onSaved: () => void }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState(SINKS[0]);
  const [settings, setSettings] = useState<Record<string, string>>({});
  const [pace, setPace] = useState("");
  const save = () =>
    put(`/admin/dispatch/types/${segment(name)}`, {
      enabled: true,
      maxPerSecond: pace === "" ? null : Number(pace),
      sink: { type: kind.type, ...Object.fromEntries(kind.settings.map((each) => [each.name, settings[each.name] ?? ""])) },
    });
  return (
    <EditDialog title="New item type" action="Create" save={save} onSaved={props.onSaved} onClose={props.onClose}>
      <Field label="Name">
        <input name="itemType" required maxLength={128} value={name} onInput={(e) => setName(e.currentTarget.value)} />
      </Field>
      <Field label="Sink">
        <select name="sink" value={kind.type} onChange={(e) => setKind(SINKS.find((each) => each.type === e.currentTarget.value) ?? SINKS[0])}>
          {SINKS.map((each) => (
            <option value={each.type} key={each.type}>
              {each.label}
            </option>
          ))}
        </select>
      </Field>
      {kind.settings.map((each) => (
        <Field label={each.label} key={each.name}>
          <input name={each.name} type={each.type} required value={settings[each.name] ?? ""} onInput={(e) => setSettings({ ...settings, [each.name]: e.currentTarget.value })} />
        </Field>
      ))}
      <Field label="Pace" hint="items per second; empty: unpaced">
        <input name="pace" type="number" min={1} value={pace} onInput={(e) => setPace(e.currentTarget.value)} />
      </Field>
    </EditDialog>
  );
}

// What changed between two versions of something.

export interface Change {
  field: string;
  before: string;
  after: string;
}

function show(value: unknown): string {
  if (value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Fields that differ, nested objects flattened with dots; `skip` are those that always do. */
export function changes(before: object | null, after: object, skip: string[] = []): Change[] {
  const flat = (value: object, prefix = "", into = new Map<string, unknown>()) => {
    for (const [name, member] of Object.entries(value)) {
      if (member !== null && typeof member === "object" && !Array.isArray(member)) {
        flat(member as object, `${prefix}${name}.`, into);
      } else {
        into.set(prefix + name, member);
      }
    }
    return into;
  };
  const old = flat(before ?? {});
  const now = flat(after);
  const names = [...new Set([...old.keys(), ...now.keys()])].filter((name) => !skip.includes(name));
  return names
    .map((field) => ({ field, before: show(old.get(field)), after: show(now.get(field)) }))
    .filter((change) => change.before !== change.after);
}

// Lists of named things, such as policies, that are searched, made, changed and looked back at: all in the same shape.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { list, LIST_MAX } from "./api";
import { count } from "./format";
import { Empty, Loading, Panel, Problem, useLoad } from "./ui";

const ROWS_MAX = 500; // drawn at once; more are found by searching

/** The list at `path`, what of it is searched for, and the dialog that is open, `what` it does and for which entry. */
export function useCatalog<T, What extends string>(path: string, nameOf: (entry: T) => string, key: unknown = 0) {
  const { value, error, reload } = useLoad(() => list<T>(path), key);
  const [search, setSearch] = useState("");
  const [open, setOpen] = useState<{ what: What; entry: T | undefined }>();
  const wanted = search.trim().toLowerCase();
  return {
    value,
    error,
    reload,
    search,
    setSearch,
    found: (value ?? []).filter((entry) => nameOf(entry).toLowerCase().includes(wanted)),
    open,
    show: (what: What, entry?: T) => setOpen({ what, entry }),
    close: () => setOpen(undefined),
  };
}

export function CatalogPanel<T, What extends string>(props: {
  title: string;
  one: string;
  many: string;
  catalog: ReturnType<typeof useCatalog<T, What>>;
  onNew: () => void;
  empty: ComponentChildren;
  children: (shown: T[]) => ComponentChildren;
}) {
  const { value, error, search, setSearch, found } = props.catalog;
  return (
    <Panel
      title={props.title}
      aside={
        <>
          <input type="search" aria-label={`Search ${props.many}`} placeholder="Search by name" value={search} onInput={(e) => setSearch(e.currentTarget.value)} />
          <button type="button" class="primary" onClick={props.onNew}>
            New {props.one}
          </button>
        </>
      }
    >
      <Problem error={error} />
      {!value && !error && <Loading />}
      {value?.length === 0 && <Empty title={`No ${props.one} yet`}>{props.empty}</Empty>}
      {value && value.length > 0 && found.length === 0 && (
        <Empty title="Nothing found">
          None of {count(value.length, props.one, props.many)} has “{search.trim()}” in its name. Search for a part of it as it was written, * included.
        </Empty>
      )}
      {found.length > 0 && props.children(found.slice(0, ROWS_MAX))}
      {found.length > ROWS_MAX && (
        <p class="quiet">
          The first {count(ROWS_MAX, props.one, props.many)} of {count(found.length, props.one, props.many)}; search to see others.
        </p>
      )}
      {(value?.length ?? 0) >= LIST_MAX && <p class="quiet">There may be more than {count(LIST_MAX, props.one, props.many)}: the API lists them all.</p>}
    </Panel>
  );
}

export interface Column<T> {
  title: string;
  cell: (row: T) => ComponentChildren;
  mono?: boolean;
}

/** A table that becomes cards on a phone. The roles are said in full, since a browser forgets them with the layout. */
export function Table<T>(props: { label: string; rows: T[]; nameOf: (row: T) => string; columns: Column<T>[]; actions: (row: T) => ComponentChildren }) {
  return (
    <div class="scroll">
      <table class="list" role="table" aria-label={props.label}>
        <thead role="rowgroup">
          <tr role="row">
            {props.columns.map((column) => (
              <th role="columnheader" scope="col" key={column.title}>
                {column.title}
              </th>
            ))}
            <th role="columnheader" scope="col">
              <span class="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {props.rows.map((row) => (
            <tr role="row" key={props.nameOf(row)}>
              {props.columns.map((column, i) => (
                <td role="cell" key={column.title} class={column.mono ? "mono" : undefined} data-label={i === 0 ? undefined : column.title}>
                  <div>{column.cell(row)}</div>
                </td>
              ))}
              <td role="cell" class="row-actions">
                {props.actions(row)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

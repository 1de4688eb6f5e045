// Dispatch: the item types with their switches, one item's story, and the dead letters.
import { CatalogPanel, useCatalog } from "../catalog";
import { go, usePlace } from "../place";
import { useLive } from "../stream";
import { DeadLetters } from "./dead_letters";
import { ItemSearch } from "./item";
import { type ItemType, TypeCard } from "./item_type";
import { NewItemType } from "./new_item_type";

const nameOf = (type: ItemType) => type.itemType;

export function DispatchView() {
  const live = useLive();
  const { of } = usePlace();
  const catalog = useCatalog<ItemType, "new">("/admin/dispatch/types", nameOf, live.types.length);
  const types = catalog.value?.map(nameOf) ?? [];
  return (
    <>
      <CatalogPanel
        title="Item types"
        one="item type"
        many="item types"
        catalog={catalog}
        onNew={() => catalog.show("new")}
        empty="Press New item type to say where items go and how fast; then send them to POST /api/v1/dispatch/TYPE."
      >
        {(shown) => shown.map((type) => <TypeCard type={type} onChanged={catalog.reload} key={type.itemType} />)}
      </CatalogPanel>
      {types.length > 0 && (
        <div class="grid-2">
          <ItemSearch types={types} shown={of} />
          <DeadLetters types={types} onPick={(type, id) => go("dispatch", type, id)} />
        </div>
      )}
      {catalog.open && <NewItemType onClose={catalog.close} onSaved={catalog.reload} />}
    </>
  );
}

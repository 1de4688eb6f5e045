-- The limit of bench/dispatch: a narrow queue and its contexts, nothing else.
CREATE TABLE bare_queue (
  due_us bigint NOT NULL,
  claimed_us bigint NOT NULL DEFAULT 0,
  token bigint NOT NULL DEFAULT 0,
  type_id integer NOT NULL,
  item_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (type_id, due_us, item_id)
) WITH (fillfactor = 45);
CREATE TABLE bare_context (
  type_id integer NOT NULL,
  item_id text COLLATE "C" NOT NULL,
  context bytea NOT NULL,
  PRIMARY KEY (type_id, item_id)
);
-- What a bare batched INSERT is measured with.
CREATE TABLE bare_item (
  due_us bigint NOT NULL,
  type_id integer NOT NULL,
  item_id text COLLATE "C" NOT NULL,
  digest bytea NOT NULL,
  context bytea NOT NULL,
  PRIMARY KEY (type_id, item_id)
);

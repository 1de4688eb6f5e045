-- Caller: functions of this schema. Index: dispatch_type_name. Locks: the names that are new, in the
-- order of `names`, which is ascending. Answers the numbers of these types, making those that lack.
CREATE FUNCTION dispatch_types(names text[]) RETURNS integer[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  numbers integer[];
BEGIN
  SELECT array_agg(t.type_id ORDER BY n.place) INTO numbers
    FROM unnest(names) WITH ORDINALITY AS n(name, place)
    LEFT JOIN dispatch_type t ON t.name = n.name;
  IF array_position(numbers, NULL) IS NULL THEN RETURN numbers; END IF;
  INSERT INTO dispatch_type (name)
  SELECT n.name FROM unnest(names, numbers) WITH ORDINALITY AS n(name, type_id, place)
   WHERE n.type_id IS NULL ORDER BY n.place
      ON CONFLICT (name) DO NOTHING;
  SELECT array_agg(t.type_id ORDER BY n.place) INTO numbers
    FROM unnest(names) WITH ORDINALITY AS n(name, place)
    LEFT JOIN dispatch_type t ON t.name = n.name;
  RETURN numbers;
END
$$;

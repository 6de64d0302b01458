/** Returns the value of a key, creating it if missing. */
export function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

export function newMap<Key, Value>(): Map<Key, Value> {
  return new Map();
}

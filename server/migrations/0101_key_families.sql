-- Who an answer with a secret may be replayed to: the key that got it, and its successors by rotation.

-- The first of the keys that rotations led from to this one; null: it is the first.
alter table api_key add column family text;

-- The family of the key that made the request; null: made by a version without families.
alter table idempotent_request add column key_family text;

import { sql } from 'kysely';

/** Every change that a client can see increments the revision and updates `updatedAt`. */
export function touched() {
  return {
    revision: sql<number>`revision + 1`,
    updated_at: sql<Date>`greatest(clock_timestamp(), updated_at + interval '1 microsecond')`,
  };
}

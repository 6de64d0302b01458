/** The table of leases: who works on what. */
import type { ColumnType } from 'kysely';

type LeaseTable = {
  name: string;
  holder_id: string;
  held_until: ColumnType<Date, string, string>;
};

declare module '../database/tables.ts' {
  interface Tables {
    lease: LeaseTable;
  }
}

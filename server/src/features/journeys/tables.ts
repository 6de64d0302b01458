type JourneyChunkTable = {
  organization_id: string;
  day: string;
  level: number;
  chunk: string;
  row_count: number;
  body: Buffer;
  properties: Buffer | null;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    journey_chunk: JourneyChunkTable;
  }
}

/** The tables of credible counts; see 0140_credible_counts.sql. */
type ViewerDayTable = {
  viewer_key: Buffer;
  day: string;
  organization_id: string;
  crowd: number;
  is_vouched: boolean;
  country: string;
  items: Buffer;
};

type ItemDayTable = {
  organization_id: string;
  day: string;
  serial_number: number;
  known_shown: number;
  known_plays: number;
  known_completions: number;
  known_reactions: number;
  new_shown: number;
  new_plays: number;
  new_completions: number;
  new_reactions: number;
};

type ItemCountryTable = {
  organization_id: string;
  day: string;
  serial_number: number;
  country: string;
  plays: number;
};

declare module '../../platform/database/tables.ts' {
  interface Tables {
    feed_viewer_day: ViewerDayTable;
    feed_item_day: ItemDayTable;
    feed_item_country: ItemCountryTable;
  }
}

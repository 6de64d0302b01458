/** The layout of a storyboard and its WebVTT track for players. */

export type StoryboardLayout = {
  readonly tile: { readonly width: number; readonly height: number };
  readonly columns: number;
  readonly rows: number;
  readonly count: number;
  readonly tiles: readonly {
    readonly x: number;
    readonly y: number;
    readonly startSeconds: number;
    readonly endSeconds: number;
  }[];
};

const MAX_TILES = 50;
const COLUMNS = 10;

/** One picture per second, up to fifty; beyond that, fifty at equal distances. */
export function storyboardLayout(
  durationSeconds: number,
  tile: { width: number; height: number },
): StoryboardLayout {
  const count = Math.min(MAX_TILES, Math.max(1, Math.round(durationSeconds)));
  const columns = Math.min(COLUMNS, count);
  const interval = durationSeconds / count;
  const tiles = Array.from({ length: count }, (_, index) => ({
    x: (index % columns) * tile.width,
    y: Math.floor(index / columns) * tile.height,
    startSeconds: index * interval,
    endSeconds: (index + 1) * interval,
  }));
  return { tile, columns, rows: Math.ceil(count / columns), count, tiles };
}

/** A WebVTT track whose cues reference regions of `image` as media fragments (`#xywh`). */
export function storyboardTrack({ tile, tiles }: StoryboardLayout, image: string): string {
  const cues = tiles.map(
    ({ x, y, startSeconds, endSeconds }) =>
      `${timestamp(startSeconds)} --> ${timestamp(endSeconds)}\n` +
      `${image}#xywh=${x},${y},${tile.width},${tile.height}\n`,
  );
  return ['WEBVTT\n', ...cues].join('\n');
}

function timestamp(seconds: number): string {
  return new Date(Math.round(seconds * 1_000)).toISOString().slice(11, 23);
}

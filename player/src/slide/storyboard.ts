import { webAddress } from '@reelfeed/client/playing';

/** A part of a picture that represents a part of the clip. */
export type Tile = {
  readonly startSeconds: number;
  readonly url: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

const cue = /^(\d+):(\d+):([\d.]+) --> .*\n(\S+)#xywh=(\d+),(\d+),(\d+),(\d+)$/gm;

/** Parses the WebVTT track of a storyboard located at `address`. */
export function readStoryboard(track: string, address: string): Tile[] {
  return [...track.matchAll(cue)].map(([, hours, minutes, seconds, name = '', ...place]) => {
    const [x = 0, y = 0, width = 0, height = 0] = place.map(Number);
    const startSeconds = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return { startSeconds, url: new URL(name, address).href, x, y, width, height };
  });
}

/** Shows a preview while the viewer seeks. Nothing is fetched before that. */
export class Storyboard {
  readonly #root: HTMLElement;
  #address: string | null = null;
  #tiles: Promise<Tile[]> | null = null;
  #seconds = 0;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** Null if a clip has none. */
  use(url: string | null): void {
    this.#address = webAddress(url);
    this.#tiles = null;
    this.#root.hidden = true;
  }

  /** Shows the preview of a position as soon as it has loaded. */
  async show(seconds: number): Promise<void> {
    this.#seconds = seconds;
    if (this.#address === null) return;
    this.#tiles ??= load(this.#address);
    const tiles = await this.#tiles;
    const started = tiles.filter(({ startSeconds }) => startSeconds <= this.#seconds);
    const tile = started[started.length - 1] ?? tiles[0];
    this.#root.hidden = tile === undefined;
    if (tile === undefined) return;
    const { style } = this.#root;
    style.backgroundImage = `url("${tile.url}")`;
    style.backgroundPosition = `${-tile.x}px ${-tile.y}px`;
    style.width = `${tile.width}px`;
    style.height = `${tile.height}px`;
  }
}

/** A storyboard that can't be read is treated as missing. */
async function load(address: string): Promise<Tile[]> {
  try {
    const answer = await fetch(address);
    return answer.ok ? readStoryboard(await answer.text(), address) : [];
  } catch {
    return [];
  }
}

/**
 * Moving scenes for the demo's clips: a few drawn layers, each of which moves at its own speed, so
 * near layers pass faster than far ones.
 */
import { writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { PictureLayer } from '../../features/media/media.ts';
import { randomFrom, type Random } from './random.ts';

export type Theme = 'dunes' | 'mountains' | 'sea' | 'city' | 'forest' | 'snow' | 'bubbles';

type Size = { readonly width: number; readonly height: number };
type Palette = readonly [top: string, bottom: string, far: string, near: string, light: string];

const palettes: { readonly [Name in Theme]: Palette } = {
  dunes: ['#ff9a5a', '#ffd9a0', '#d9793f', '#8a3b1c', '#fff3d6'],
  mountains: ['#283c86', '#f7a8b8', '#5b5f97', '#22223b', '#ffe8d6'],
  sea: ['#0f4c75', '#bbe1fa', '#3282b8', '#0b2545', '#fdfcdc'],
  city: ['#0b1026', '#6d2e6b', '#2b2350', '#0a0a1a', '#ffd166'],
  forest: ['#a8e6cf', '#fdfd96', '#56ab6f', '#16423c', '#fffbe6'],
  snow: ['#1b2a49', '#8fb8de', '#6f95bd', '#e8f1f8', '#ffffff'],
  bubbles: ['#ff5f9e', '#5b2a86', '#ff9ecb', '#ffd1e8', '#ffffff'],
};

/** Draws the layers of a scene into a folder, from back to front. */
export async function drawScene(
  theme: Theme,
  size: Size,
  seed: string,
  folder: string,
): Promise<PictureLayer[]> {
  const random = randomFrom(seed);
  const layers: PictureLayer[] = [];
  for (const [index, { shapes, speed }] of layersOf(theme, size, random).entries()) {
    const [speedX, speedY] = speed;
    const file = `${folder}/${seed}-${index}.png`;
    // A moving layer is drawn twice side by side, so that it can loop.
    const across = speedX === 0 ? 1 : 2;
    const down = speedY === 0 ? 1 : 2;
    const { width, height } = size;
    const copies = Array.from({ length: across * down }, (_, copy) => {
      const x = (copy % across) * width;
      const y = Math.floor(copy / across) * height;
      return `<g transform="translate(${x} ${y})">${shapes}</g>`;
    });
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width * across}" height="${height * down}">${copies.join('')}</svg>`;
    await writeFile(file, await sharp(Buffer.from(svg)).png({ compressionLevel: 1 }).toBuffer());
    layers.push({ file, speedX, speedY });
  }
  return layers;
}

type Layer = { shapes: string; speed: readonly [x: number, y: number] };

function layersOf(theme: Theme, size: Size, random: Random): Layer[] {
  const { width, height } = size;
  const [top, bottom, far, near, light] = palettes[theme];
  const sky: Layer = {
    shapes:
      `<linearGradient id="sky" x2="0" y2="1"><stop stop-color="${top}"/><stop offset="1" stop-color="${bottom}"/></linearGradient>` +
      `<rect width="${width}" height="${height}" fill="url(#sky)"/>` +
      `<circle cx="${width * (0.25 + 0.5 * random())}" cy="${height * 0.28}" r="${Math.min(width, height) * 0.13}" fill="${light}" opacity="0.9"/>`,
    speed: [0, 0],
  };
  const hills = (base: number, roughness: number, color: string, speed: number): Layer => ({
    shapes: ridge(size, { base, roughness, color }, random),
    speed: [speed, 0],
  });
  switch (theme) {
    case 'dunes':
    case 'mountains':
    case 'forest': {
      const roughness = { dunes: 0.05, mountains: 0.16, forest: 0.08 }[theme];
      const trees: Layer = { shapes: firs(size, near, random), speed: [120, 0] };
      return [
        sky,
        hills(0.55, roughness, far, 15),
        hills(0.68, roughness, blend(far, near), 40),
        theme === 'forest' ? trees : hills(0.82, roughness, near, 90),
      ];
    }
    case 'sea':
      return [
        sky,
        hills(0.6, 0.015, far, 30),
        hills(0.7, 0.02, blend(far, near), -60),
        hills(0.82, 0.03, near, 110),
      ];
    case 'city':
      return [
        sky,
        { shapes: towers(size, far, light, random), speed: [25, 0] },
        { shapes: towers(size, near, light, random), speed: [80, 0] },
      ];
    case 'snow':
      return [
        sky,
        hills(0.7, 0.12, far, 10),
        hills(0.85, 0.06, near, 20),
        { shapes: discs(size, 40, 0.004, light, random), speed: [12, -90] },
        { shapes: discs(size, 25, 0.009, light, random), speed: [-20, -200] },
      ];
    case 'bubbles':
      return [
        sky,
        { shapes: discs(size, 14, 0.07, far, random), speed: [0, 60] },
        { shapes: discs(size, 9, 0.045, near, random), speed: [30, 130] },
        { shapes: discs(size, 16, 0.012, light, random), speed: [-40, 220] },
      ];
    default:
      return theme satisfies never;
  }
}

/** A ridge that ends at the height at which it begins, so that it can loop. */
function ridge(
  { width, height }: Size,
  { base, roughness, color }: { base: number; roughness: number; color: string },
  random: Random,
): string {
  const waves = [1, 2, 3, 5].map((turns) => ({ turns, phase: random() * 6.3, part: 1 / turns }));
  const points = Array.from({ length: 61 }, (_, step) => {
    const rise = waves.reduce(
      (sum, { turns, phase, part }) => sum + part * Math.sin((step / 60) * 6.2832 * turns + phase),
      0,
    );
    return `${((width * step) / 60).toFixed(1)},${(height * (base - roughness * rise)).toFixed(1)}`;
  });
  return `<polygon points="0,${height} ${points.join(' ')} ${width},${height}" fill="${color}"/>`;
}

function towers({ width, height }: Size, color: string, light: string, random: Random): string {
  const count = 8;
  return Array.from({ length: count }, (_, index) => {
    const [x, wide] = [(width * index) / count, width / count - 4];
    const y = height * (0.35 + 0.4 * random());
    const windows = Array.from({ length: 18 }, () => {
      const [column, row] = [Math.floor(random() * 3), Math.floor(random() * 14)];
      return `<rect x="${x + wide * (0.15 + 0.28 * column)}" y="${y + height * (0.02 + 0.03 * row)}" width="${wide * 0.16}" height="${height * 0.012}" fill="${light}" opacity="0.8"/>`;
    });
    return `<rect x="${x}" y="${y}" width="${wide}" height="${height}" fill="${color}"/>${windows.join('')}`;
  }).join('');
}

function firs({ width, height }: Size, color: string, random: Random): string {
  return Array.from({ length: 9 }, (_, index) => {
    const [x, half] = [(width * (index + 0.5)) / 9, width / 20];
    const y = height * (0.5 + 0.2 * random());
    return `<polygon points="${x},${y} ${x - half},${height} ${x + half},${height}" fill="${color}"/>`;
  }).join('');
}

function discs(
  { width, height }: Size,
  count: number,
  part: number,
  color: string,
  random: Random,
): string {
  const radius = Math.max(width, height) * part;
  return Array.from({ length: count }, () => {
    const r = radius * (0.6 + 0.8 * random());
    const [x, y] = [r + random() * (width - 2 * r), r + random() * (height - 2 * r)];
    return `<circle cx="${x}" cy="${y}" r="${r}" fill="${color}" opacity="${0.35 + 0.5 * random()}"/>`;
  }).join('');
}

/** Mixes two colours in equal parts. */
function blend(one: string, other: string): string {
  const parts = [1, 3, 5].map((at) => {
    const sum = parseInt(one.slice(at, at + 2), 16) + parseInt(other.slice(at, at + 2), 16);
    return Math.round(sum / 2)
      .toString(16)
      .padStart(2, '0');
  });
  return `#${parts.join('')}`;
}

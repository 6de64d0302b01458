/** Captions in an HLS master playlist (RFC 8216, section 4.3.4.1). */
import type { StoredAsset } from '../content/content.ts';

const group = 'captions';

/** Adds the ready captions to a master playlist as a group of subtitles. */
export function withCaptions(master: string, captions: readonly StoredAsset[]): string {
  if (captions.length === 0) return master;
  const names = new Set<string>();
  const media = captions.map(({ folder, metadata }) => {
    const attributes = [
      'TYPE=SUBTITLES',
      `GROUP-ID="${group}"`,
      `NAME="${uniqueName(String(metadata['label']), names)}"`,
      `LANGUAGE="${String(metadata['language'])}"`,
      'DEFAULT=NO',
      'AUTOSELECT=YES',
      'FORCED=NO',
      `URI="../${folder?.slice(folder.indexOf('/') + 1) ?? ''}/subtitles.m3u8"`,
    ];
    return `#EXT-X-MEDIA:${attributes.join(',')}`;
  });
  const lines = master.split('\n').map((line) => {
    if (!line.startsWith('#EXT-X-STREAM-INF:')) return line;
    return `${line},SUBTITLES="${group}"`;
  });
  const first = lines.findIndex((line) => line.startsWith('#EXT-X-STREAM-INF:'));
  lines.splice(first === -1 ? lines.length : first, 0, ...media);
  return lines.join('\n');
}

/** Names within a group must be unique, even if a given name looks like a generated one. */
function uniqueName(label: string, names: Set<string>): string {
  let name = label;
  for (let count = 2; names.has(name); count += 1) name = `${label} ${count}`;
  names.add(name);
  return name;
}

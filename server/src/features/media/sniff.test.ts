import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { HOSTILE_NAMES, mediaSample, type ClipName } from '../../../test/media-samples.ts';
import { SNIFF_BYTES, sniffMedia } from './sniff.ts';

function container(bytes: Uint8Array | string): string | null {
  return (
    sniffMedia(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)?.container ?? null
  );
}

test('real files are recognised by their bytes', async () => {
  const expected: [ClipName, string][] = [
    ['portrait.mp4', 'mov'],
    ['portrait.mov', 'mov'],
    ['audio-only.m4a', 'mov'],
    ['portrait.mkv', 'matroska'],
    ['portrait.ts', 'mpegts'],
    ['portrait.avi', 'avi'],
    ['portrait.flv', 'flv'],
  ];
  for (const [name, format] of expected) {
    const bytes = await readFile(await mediaSample(name));
    assert.equal(container(bytes.subarray(0, SNIFF_BYTES)), format, name);
  }
});

test('the other allowed signatures are recognised', () => {
  const adts = Buffer.alloc(64);
  // Two ADTS frames of 32 bytes: sync, no CRC, AAC LC, 48 kHz, stereo.
  for (const offset of [0, 32]) {
    adts.set([0xff, 0xf1, 0x4c, 0x80, 32 >> 3, ((32 & 7) << 5) | 0x1f, 0xfc], offset);
  }
  assert.equal(container(adts), 'aac');
  assert.equal(container('OggS\0\x02'), 'ogg');
  assert.equal(container('fLaC\0\0\0\x22'), 'flac');
  assert.equal(container('RIFF\x24\0\0\0WAVEfmt '), 'wav');
  assert.equal(container('ID3\x03\0\0\0\0\0\0'), 'mp3');
  assert.equal(container('\xff\xfb\x90\x00'), 'mp3');
  assert.equal(container(`ID3\x03\0\0\0\0\0\x05tags!${adts.toString('latin1')}`), 'aac');
  assert.equal(container('GIF89a\x01\0\x01\0'), 'gif');
  assert.equal(container(`RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\x02`), 'webp_anim');
  assert.equal(
    container('\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c'),
    'asf',
  );
  const packet = `G${'\0'.repeat(187)}`;
  assert.equal(container(packet.repeat(20)), 'mpegts');
  assert.equal(container(packet.repeat(20).slice(100)), 'mpegts');
  assert.equal(container(packet.repeat(5).slice(100)), null);
  assert.equal(container('\0\0\x01\xba\x44'), 'mpeg');
  assert.equal(container('\0\0\0\x08wide\0\0\x10\0mdat'), 'mov');
});

test('whatever is not audio or video is refused', () => {
  const refused: Record<string, string> = {
    empty: '',
    html: '<!doctype html><html></html>',
    svg: '<svg xmlns="http://www.w3.org/2000/svg"/>',
    xml: '<?xml version="1.0"?><!DOCTYPE a>',
    pdf: '%PDF-1.7\n',
    playlist: '#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n',
    concat: 'ffconcat version 1.0\nfile secret\n',
    zip: 'PK\x03\x04\x14\0\0\0',
    png: '\x89PNG\r\n\x1a\n',
    jpeg: '\xff\xd8\xff\xe0\0\x10JFIF',
    'gif of another version': 'GIF90a\x01\0\x01\0',
    webp: 'RIFF\x24\0\0\0WEBPVP8 ',
    'webp that stands still': `RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\x10`,
    heic: '\0\0\0\x18ftypheic\0\0\0\0',
    avif: '\0\0\0\x1cftypavif\0\0\0\0',
    text: 'hello moov, this is only text',
    script: '#!/bin/sh\nrm -rf /\n',
    'reserved audio layer': '\xff\xf9\x90\x00',
    'one sync byte': 'G and no packet after it'.padEnd(1000),
  };
  for (const [name, bytes] of Object.entries(refused)) assert.equal(container(bytes), null, name);
});

test('hostile files that carry no media signature are refused by name-blind sniffing', async () => {
  const looksLikeMedia = new Set([
    'no-index.mp4',
    'cut.mp4',
    'cut.avi',
    'cut.flv',
    'cut.ts',
    'header-then-garbage.mp4',
    'garbage-pictures.mp4',
    'external-track.mov',
  ]);
  for (const name of HOSTILE_NAMES) {
    const bytes = await readFile(await mediaSample(name));
    const isMedia = container(bytes.subarray(0, SNIFF_BYTES)) !== null;
    assert.equal(isMedia, looksLikeMedia.has(name), name);
  }
});

test('every prefix of a head can be sniffed without an error', () => {
  const head = Buffer.from('\xff\xf1\x4c\x80\x04\x1f\xfcOggSftypmoov', 'latin1');
  for (let length = 0; length <= head.length; length += 1) sniffMedia(head.subarray(0, length));
});

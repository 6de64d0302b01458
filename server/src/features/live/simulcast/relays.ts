/** The simulcasts of one publisher's broadcast: one relay per target. */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import { readAudioTag, readVideoTag } from '../ingest/flv-tags.ts';
import type { StreamClaim } from '../ingest/publisher-queries.ts';
import { messageType, type RtmpMessage } from '../rtmp/messages.ts';
import { connectTarget } from './connect-target.ts';
import { Relay, type RelayStatus, type StreamHeaders } from './relay.ts';
import { readTargets, updateTargetStatus, type StoredTarget } from './target-queries.ts';
import { keyContext } from './targets.ts';

export type SimulcastParts = {
  readonly db: Db;
  readonly egress: Egress;
  readonly vault: Vault;
};

const refreshEveryMs = 2_000;

export class Relays {
  readonly #parts: SimulcastParts;
  readonly #claim: StreamClaim;
  readonly #log: Logger;
  readonly #headers: StreamHeaders = { metadata: null, video: null, audio: null };
  readonly #relays = new Map<string, Relay>();
  #refreshedAt = -Infinity;
  #isOver = false;

  constructor(parts: SimulcastParts, claim: StreamClaim, log: Logger) {
    this.#parts = parts;
    this.#claim = claim;
    this.#log = log;
  }

  /** Starts relays for added targets and stops those of removed ones. Returns immediately. */
  refresh(): void {
    if (this.#isOver || performance.now() - this.#refreshedAt < refreshEveryMs) return;
    this.#refreshedAt = performance.now();
    this.#refresh().catch((error: unknown) =>
      this.#log.info({ err: error }, 'live stream: could not read simulcast targets'),
    );
  }

  async #refresh(): Promise<void> {
    const targets = await readTargets(this.#parts.db, this.#claim);
    const known = new Set(targets.map(({ targetId }) => targetId));
    for (const [targetId, relay] of this.#relays) {
      if (known.has(targetId)) continue;
      this.#relays.delete(targetId);
      void relay[Symbol.asyncDispose]();
    }
    for (const target of targets) {
      if (!this.#isOver && !this.#relays.has(target.targetId)) this.#start(target);
    }
  }

  /** Receives the encoder's stream metadata. */
  takeMetadata(message: RtmpMessage): void {
    this.#headers.metadata = message;
  }

  /** Forwards a message accepted by the broadcast. Never waits. */
  take(message: RtmpMessage): void {
    const isVideo = message.type === messageType.video;
    const tag = isVideo ? readVideoTag(message.payload) : readAudioTag(message.payload);
    if (tag === null) return;
    if (tag.isHeader) {
      this.#headers[isVideo ? 'video' : 'audio'] = message;
      for (const relay of this.#relays.values()) relay.takeHeader(message);
      return;
    }
    const isKeyFrame = 'isKey' in tag && tag.isKey === true;
    for (const relay of this.#relays.values()) relay.take(message, { isKeyFrame });
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(Array.from(this.#relays.values(), (relay) => relay[Symbol.asyncDispose]()));
  }

  #start(target: StoredTarget): void {
    const { targetId } = target;
    const open = (signal: AbortSignal) => this.#open(target, signal);
    const onStatus = (status: RelayStatus) => this.#note(targetId, status);
    this.#relays.set(targetId, new Relay({ headers: this.#headers, open, onStatus }));
  }

  async #open({ sealedKey, targetId, url }: StoredTarget, signal: AbortSignal) {
    const { egress, vault } = this.#parts;
    const streamKey = vault.open(sealedKey, keyContext(this.#claim, targetId));
    return connectTarget(egress, { url, streamKey }, signal);
  }

  #note(targetId: string, status: RelayStatus): void {
    if (status.status === 'failed') {
      this.#log.info({ targetId, reason: status.message }, 'live stream: simulcast failed');
    }
    updateTargetStatus(this.#parts.db, this.#claim, targetId, status).catch((error: unknown) =>
      this.#log.info({ err: error }, 'live stream: could not store the state of a simulcast'),
    );
  }
}

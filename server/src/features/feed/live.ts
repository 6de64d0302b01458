/** What the feed asks of live streams. None exist yet: `noLiveStreams` stands for them. */
import type { OrganizationId } from '../../platform/ids.ts';

export type LiveState = {
  readonly liveStreamId: string;
  readonly status: 'idle' | 'active' | 'ended';
  readonly currentViewers: number;
};

/** The states of live streams by content id; asked for on each feed read. */
export type LiveStreams = (
  organizationId: OrganizationId,
) => ReadonlyMap<string, LiveState> | Promise<ReadonlyMap<string, LiveState>>;

const none: ReadonlyMap<string, LiveState> = new Map();

export const noLiveStreams: LiveStreams = () => none;

import { isRecord } from './errors.ts';
import { type EventViewer } from './events.ts';
import { newUuid7 } from './uuid7.ts';

/** Ids given to a sender. Null omits that kind of id from its events. */
export type GivenIds = {
  readonly userId?: string | undefined;
  readonly userSignature?: string | undefined;
  readonly deviceId?: string | null | undefined;
  readonly sessionId?: string | null | undefined;
};

type Ids = Pick<EventViewer, 'userId' | 'deviceId' | 'sessionId'>;

/**
 * The viewer's ids. Ids not given by the app are generated: the device id is stored in
 * `localStorage` together with the logged-in user, the session id in `sessionStorage`. Without such
 * storage, as in Node, they last as long as the sender.
 */
export class ViewerIdentity {
  readonly #given: GivenIds;
  #ids: Ids;
  #signature: string | undefined;

  constructor(given: GivenIds) {
    this.#given = given;
    const device = readRecord('localStorage', deviceEntry);
    const session = readRecord('sessionStorage', sessionEntry);
    this.#ids = {
      userId: given.userId ?? textOf(device['userId']),
      deviceId: idOf(given.deviceId, device['deviceId']),
      sessionId: idOf(given.sessionId, session['sessionId']),
    };
    this.#signature =
      given.userId === undefined ? textOf(device['userSignature']) : given.userSignature;
    this.#keep();
  }

  /** The signature of the user id, if the app has given one. */
  get signature(): string | undefined {
    return this.#signature;
  }

  get ids(): Ids {
    return this.#ids;
  }

  /**
   * Sets the user who has logged in, or null after a logout. The session continues unless another
   * user was logged in.
   *
   * @returns whether nobody was logged in before
   */
  identify(userId: string | null, signature?: string): boolean {
    const before = this.#ids.userId;
    const isSamePerson = before === undefined || before === userId;
    const { deviceId, sessionId } = this.#ids;
    this.#ids = {
      userId: userId ?? undefined,
      deviceId,
      sessionId: isSamePerson ? sessionId : idOf(this.#given.sessionId, undefined),
    };
    this.#signature = userId === null ? undefined : signature;
    this.#keep();
    return before === undefined;
  }

  #keep(): void {
    const { userId, deviceId, sessionId } = this.#ids;
    const given = this.#given;
    if (given.deviceId === undefined) {
      // The app itself remembers a user that it gave in the options.
      const isGiven = userId === given.userId;
      write('localStorage', deviceEntry, {
        deviceId,
        ...(!isGiven && { userId, userSignature: this.#signature }),
      });
    }
    if (given.sessionId === undefined) write('sessionStorage', sessionEntry, { sessionId });
  }
}

const deviceEntry = 'reelfeed.viewer';
const sessionEntry = 'reelfeed.visit';

function idOf(given: string | null | undefined, kept: unknown): string | undefined {
  return given === null ? undefined : (given ?? textOf(kept) ?? newUuid7());
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= 256 ? value : undefined;
}

/** An empty record if the storage is missing, forbidden, or contains something else. */
function readRecord(
  kind: 'localStorage' | 'sessionStorage',
  entry: string,
): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(globalThis[kind].getItem(entry) ?? 'null');
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function write(kind: 'localStorage' | 'sessionStorage', entry: string, value: object): void {
  try {
    globalThis[kind].setItem(entry, JSON.stringify(value));
  } catch {
    // Without storage, the ids last as long as the sender.
  }
}

/**
 * Which users devices were named with a moment ago, before the projection `links` has written it: a device
 * belongs to the first of them. So a second user of a device is never taken for the first one.
 */
export class FreshLinks {
  readonly #owners = new Map<string, { user: string; atMs: number }>();
  readonly #devices = new Map<string, Set<string>>();

  /** An event named both. The earlier of two users keeps the device. @returns whether that is news */
  add(device: string, user: string, atMs: number): boolean {
    const known = this.#owners.get(device);
    if (known !== undefined && known.atMs <= atMs) return false;
    const isNews = known?.user !== user;
    this.#remove(device);
    this.#owners.set(device, { user, atMs });
    this.#devices.set(user, (this.#devices.get(user) ?? new Set()).add(device));
    if (this.#owners.size > maxDevices) {
      const [oldest] = this.#owners.keys();
      if (oldest !== undefined) this.#remove(oldest);
    }
    return isNews;
  }

  ownerOf(device: string): string | null {
    return this.#owners.get(device)?.user ?? null;
  }

  /** The devices that belong to a user, those that were named last; a few of them. */
  devicesOf(user: string): string[] {
    return [...(this.#devices.get(user) ?? [])].slice(-maxDevicesOfUser);
  }

  #remove(device: string): void {
    const known = this.#owners.get(device);
    if (known === undefined) return;
    this.#owners.delete(device);
    const devices = this.#devices.get(known.user);
    devices?.delete(device);
    if (devices?.size === 0) this.#devices.delete(known.user);
  }
}

const maxDevices = 20_000;
const maxDevicesOfUser = 10;

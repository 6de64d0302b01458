/**
 * Recent links from devices to users that the projection `links` has not written yet. A device
 * belongs to the first user named with it, so a second user of a device is never mistaken for the
 * first.
 */
export class FreshLinks {
  readonly #owners = new Map<string, { user: string; atMs: number }>();
  readonly #devices = new Map<string, Set<string>>();

  /**
   * Records that an event named both. If two users share a device, the earlier one keeps it.
   *
   * @returns whether the link is new
   */
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

  /** The most recently named devices of a user, limited in number. */
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

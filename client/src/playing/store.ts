/**
 * Small texts that persist between visits. Reading never fails; anything that can't be stored is
 * forgotten.
 */
export type Store = {
  read(name: string): string | null;
  write(name: string, value: string): void;
  remove(name: string): void;
};

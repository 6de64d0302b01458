/** Small texts that last from one visit to the next. Reading never fails; what can't be kept is forgotten. */
export type Store = {
  read(name: string): string | null;
  write(name: string, value: string): void;
  remove(name: string): void;
};

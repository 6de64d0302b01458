/** Decides which edited fields to send, for which version, and when the editor must resolve a conflict. */
import { ReelfeedError } from '@reelfeed/client/session';

/** The stored version of a resource and its `ETag`, which is null if it has none. */
export type Version<Values> = { values: Values; tag: string | null };

export type DraftOptions<Values> = {
  stored: Version<Values>;
  /** Reads what is stored now. */
  read: () => Promise<Version<Values>>;
  /** Writes the changes. If the resource has an `ETag`, another version is rejected with 412. */
  write: (changes: Partial<Values>, tag: string | null) => Promise<unknown>;
};

/** The fields that somebody else has changed too, and the version with these changes. */
export type Conflict<Values> = { now: Version<Values>; fields: (keyof Values & string)[] };

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export const fieldsOf = <Values extends object>(
  values: Partial<Values>,
): (keyof Values & string)[] => Object.keys(values) as (keyof Values & string)[];

const maxTries = 4;

/** The edits that differ from the original values. */
export function changed<Values extends object>(
  base: Values,
  edits: Partial<Values>,
): Partial<Values> {
  const fields = fieldsOf(edits).filter((name) => !isSame(base[name], edits[name]));
  return Object.fromEntries(fields.map((name) => [name, edits[name]])) as Partial<Values>;
}

/**
 * Writes the changes made to a version.
 *
 * @returns the conflict, if nothing was written; otherwise the fields that others have changed in
 * the meantime
 */
export async function store<Values extends object>(
  sent: Partial<Values>,
  from: Version<Values>,
  { read, write }: Pick<DraftOptions<Values>, 'read' | 'write'>,
): Promise<Conflict<Values> | { others: string[] }> {
  let version = from;
  // Without a tag, the service cannot detect that an outdated version was edited.
  let needsLook = from.tag === null;
  for (let tries = 1; ; tries += 1) {
    if (needsLook) {
      const now = await read();
      const others = fieldsOf(now.values).filter((n) => !isSame(now.values[n], from.values[n]));
      const fields = others.filter((n) => n in sent && !isSame(now.values[n], sent[n]));
      if (fields.length > 0) return { now, fields };
      version = now;
    }
    try {
      await write(sent, version.tag);
      const others = fieldsOf(version.values).filter(
        (name) => !(name in sent) && !isSame(version.values[name], from.values[name]),
      );
      return { others };
    } catch (error) {
      const isOvertaken = error instanceof ReelfeedError && error.status === 412;
      if (!isOvertaken || tries === maxTries) throw error;
      needsLook = true;
    }
  }
}

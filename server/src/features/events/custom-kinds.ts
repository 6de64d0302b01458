/** An app's own kind, declared by a metric of its organization. */
export type CustomKind = `custom.${string}`;

/** Custom kinds: up to 64 letters, digits, `_`, `-` and `.` after the prefix. */
export const customKindPattern = '^custom\\.[A-Za-z][A-Za-z0-9_.-]{0,63}$';
const customKindForm = new RegExp(customKindPattern);

export function isCustomKind(kind: string): kind is CustomKind {
  return kind.startsWith('custom.') && customKindForm.test(kind);
}

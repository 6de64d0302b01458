/**
 * Edits of a stored resource.
 *
 * 1. Only changed fields are sent, for the version that the editing started with.
 * 2. If someone else has changed other fields since, both changes are kept. If it was the same
 *    field, the editor sees both versions and chooses; nothing is written before that.
 * 3. Without edits, the form shows and follows the stored version.
 */
import { Button, Code, Group, Modal, Radio, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { busyWith } from './busy.ts';
import {
  changed,
  fieldsOf,
  store,
  type Conflict,
  type DraftOptions,
  type Version,
} from './draft-saving.ts';
import { Failed } from './states.tsx';
import { useUnsaved } from './unsaved.ts';
import { t } from './texts/texts.ts';

export type Draft<Values> = {
  values: Values;
  isDirty: boolean;
  isSaving: boolean;
  error: Error | null;
  /** Result of the last save in words; null before it and during editing. */
  note: string | null;
  changes: Partial<Values>;
  /** Increases when the fields are reset; used as a key for inputs with their own state. */
  generation: number;
  change: (changes: Partial<Values>) => void;
  reset: () => void;
  save: () => void;
  conflict: Conflict<Values> | null;
  /** Resolves the conflict; the given fields keep their stored value. */
  settle: (kept: readonly string[] | null) => void;
};

export function useDraft<Values extends object>(options: DraftOptions<Values>): Draft<Values> {
  const { stored } = options;
  const client = useQueryClient();
  const [began, setBegan] = useState<Version<Values> | null>(null);
  const [edits, setEdits] = useState<Partial<Values>>({});
  const [conflict, setConflict] = useState<Conflict<Values> | null>(null);
  const [outcome, setOutcome] = useState<{ error: Error | null; note: string | null }>(fresh);
  const [isSaving, setSaving] = useState(false);
  const [generation, setGeneration] = useState(0);
  const base = began ?? stored;
  const changes = changed(base.values, edits);
  const isDirty = fieldsOf(changes).length > 0;
  useUnsaved(isDirty);
  const reset = () => {
    setBegan(null);
    setEdits({});
    setOutcome(fresh);
    setGeneration((old) => old + 1);
  };
  const run = async (sent: Partial<Values>, from: Version<Values>) => {
    setSaving(true);
    setOutcome(fresh);
    try {
      const done = await busyWith(store(sent, from, options));
      if ('fields' in done) return setConflict(done);
      await client.invalidateQueries();
      setBegan(null);
      // Input typed during the save is kept.
      setEdits((now) => changed(sent as Values, now));
      setOutcome({ error: null, note: noteOf(done.others) });
    } catch (error) {
      setOutcome({ error: error as Error, note: null });
    } finally {
      setSaving(false);
    }
  };
  return {
    values: { ...base.values, ...edits },
    isDirty,
    isSaving,
    changes,
    conflict,
    generation,
    reset,
    ...outcome,
    change(next) {
      setBegan(base);
      setEdits((old) => ({ ...old, ...next }));
      setOutcome(fresh);
    },
    save() {
      if (isDirty) void run(changes, base);
      else setOutcome({ error: null, note: 'Nothing has changed.' });
    },
    settle(kept) {
      setConflict(null);
      if (kept === null || conflict === null) return;
      const rest = fieldsOf(changes).filter((name) => !kept.includes(name));
      const chosen = Object.fromEntries(rest.map((name) => [name, changes[name]]));
      setBegan(conflict.now);
      setEdits(chosen as Partial<Values>);
      if (rest.length > 0) void run(chosen as Partial<Values>, conflict.now);
      else {
        reset();
        void client.invalidateQueries();
      }
    },
  };
}

const fresh = { error: null, note: null };

function noteOf(others: readonly string[]): string {
  return others.length === 0
    ? t('Saved.')
    : t('Saved. Someone else has changed {names} in the meantime; these changes are kept.', {
        names: others.join(', '),
      });
}

/** The form of a draft, with its buttons and the result of saving it. */
export function DraftForm<Values extends object>({
  draft,
  labels,
  children,
  actions,
  label = t('Save'),
  isDisabled = false,
}: {
  draft: Draft<Values>;
  /** Labels of the fields in a conflict. */
  labels: Readonly<Partial<Record<keyof Values & string, string>>>;
  children: ReactNode;
  actions?: ReactNode;
  label?: string;
  isDisabled?: boolean;
}): ReactNode {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    draft.save();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {children}
        <Group>
          <Button type="submit" loading={draft.isSaving} disabled={isDisabled}>
            {label}
          </Button>
          {draft.isDirty && (
            <Button variant="default" onClick={draft.reset}>
              {t('Undo changes')}
            </Button>
          )}
          {actions}
          <Text size="sm" role="status">
            {draft.note ?? (draft.isDirty ? t('Not saved yet.') : '')}
          </Text>
        </Group>
        <Failed error={draft.error} />
      </Stack>
      {draft.conflict !== null && (
        <Choose conflict={draft.conflict} draft={draft} labels={labels} />
      )}
    </form>
  );
}

function Choose<Values extends object>({
  conflict: { fields, now },
  draft,
  labels,
}: {
  conflict: Conflict<Values>;
  draft: Draft<Values>;
  labels: Readonly<Partial<Record<keyof Values & string, string>>>;
}): ReactNode {
  const [kept, setKept] = useState<readonly string[]>([]);
  return (
    <Modal
      opened
      size="lg"
      zIndex={400}
      onClose={() => draft.settle(null)}
      title={t('Someone else has changed the same fields')}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <Stack>
        <Text size="sm">
          {t(
            'Your change is not saved yet. Choose which version to keep; everything else stays as it is.',
          )}
        </Text>
        {fields.map((name) => (
          <Radio.Group
            key={name}
            label={labels[name] ?? name}
            value={kept.includes(name) ? 'theirs' : 'mine'}
            onChange={(side) =>
              setKept(side === 'mine' ? kept.filter((each) => each !== name) : [...kept, name])
            }
          >
            <Stack gap={6} mt={4}>
              <Radio value="mine" label={<Side who={t('Yours')} value={draft.values[name]} />} />
              <Radio value="theirs" label={<Side who={t('Stored')} value={now.values[name]} />} />
            </Stack>
          </Radio.Group>
        ))}
        <Group justify="flex-end">
          <Button variant="default" onClick={() => draft.settle(null)}>
            {t('Back to the form')}
          </Button>
          <Button onClick={() => draft.settle(kept)}>{t('Save this choice')}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Side({ who, value }: { who: string; value: unknown }): ReactNode {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (
    <>
      {`${who}: `}
      <Code style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {value === null || text === '' ? t('(empty)') : text}
      </Code>
    </>
  );
}

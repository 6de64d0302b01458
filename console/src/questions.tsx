/** A single dialog for all confirmations before something is lost. */
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState, useSyncExternalStore, type ReactNode } from 'react';
import { t } from './texts/texts.ts';

export type Question = {
  title: string;
  text: ReactNode;
  /** Label of the confirming button. */
  action: string;
  /** A word that must be typed first, for irreversible actions. */
  typed?: string;
};

type Asked = Question & { key: number; answer: (isYes: boolean) => void };

let asked: Asked | null = null;
let lastKey = 0;
const listeners = new Set<() => void>();

function show(next: Asked | null): void {
  asked = next;
  for (const listener of listeners) listener();
}

/** Resolves to whether the user confirmed. A second question answers the first with no. */
export async function ask(question: Question): Promise<boolean> {
  asked?.answer(false);
  lastKey += 1;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  show({ ...question, key: lastKey, answer: resolve });
  return promise;
}

/** Runs an action after confirmation. */
export function askThen(question: Question, run: () => void): void {
  void ask(question).then((isYes) => {
    if (isYes) run();
  });
}

/** Shows the pending question. */
export function Questions(): ReactNode {
  const current = useSyncExternalStore(listen, () => asked);
  // The dialog keeps its text while closing.
  const [last, setLast] = useState(current);
  if (current !== null && current !== last) setLast(current);
  const shown = current ?? last;
  const answer = (isYes: boolean) => {
    current?.answer(isYes);
    show(null);
  };
  return (
    <Modal
      opened={current !== null}
      onClose={() => answer(false)}
      title={shown?.title}
      zIndex={400}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      {shown !== null && <Answers key={shown.key} question={shown} answer={answer} />}
    </Modal>
  );
}

function Answers({
  question: { text, action, typed },
  answer,
}: {
  question: Question;
  answer: (isYes: boolean) => void;
}): ReactNode {
  const [word, setWord] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        event.stopPropagation();
        answer(true);
      }}
    >
      <Stack>
        <Text size="sm" component="div">
          {text}
        </Text>
        {typed !== undefined && (
          <TextInput
            label={t('Type “{typed}” to confirm', { typed })}
            data-autofocus
            value={word}
            onChange={(event) => setWord(event.currentTarget.value)}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={() => answer(false)}>
            {t('Cancel')}
          </Button>
          <Button type="submit" color="red.9" disabled={typed !== undefined && word !== typed}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function listen(onChange: () => void): () => void {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
}

/** A form in a drawer, which asks before unsaved input is lost. */
import { Button, Drawer, Group, Stack } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { ask } from './questions.tsx';
import { Icon } from './shell/icons.tsx';
import { Failed } from './states.tsx';
import { useUnsaved } from './unsaved.ts';
import { t } from './texts/texts.ts';

export const discard = {
  title: t('Close without saving?'),
  text: t('Your input is not saved yet.'),
  action: t('Close without saving'),
};

/** A drawer; `isDirty` asks for confirmation before it is closed. */
export function Side({
  title,
  close,
  isDirty = false,
  children,
}: {
  title: string;
  close: () => void;
  isDirty?: boolean;
  children: ReactNode;
}): ReactNode {
  useUnsaved(isDirty);
  const leave = async () => {
    if (!isDirty || (await ask(discard))) close();
  };
  return (
    <Drawer
      opened
      onClose={() => void leave()}
      position="right"
      size="lg"
      title={title}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <div ref={focusFirstField}>{children}</div>
    </Drawer>
  );
}

/** Focuses the first field; otherwise the close button would get the focus. */
function focusFirstField(place: HTMLElement | null): void {
  if (place === null || place.querySelector('[data-autofocus]') !== null) return;
  const field = place.querySelector('input:not([type="hidden"], :disabled), textarea, select');
  field?.setAttribute('data-autofocus', '');
}

/** The button that opens a drawer. */
export function OpenButton({ label, open }: { label: string; open: () => void }): ReactNode {
  return (
    <Button size="compact-sm" h={30} leftSection={<Icon name="add" size={16} />} onClick={open}>
      {label}
    </Button>
  );
}

/** A button that opens a drawer with its own form, which may continue with what it created. */
export function Opener({
  label,
  children,
}: {
  label: string;
  /** Renders the form, which may close the drawer when it is done. */
  children: (close: () => void) => ReactNode;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [isTouched, setTouched] = useState(false);
  return (
    <>
      <OpenButton label={label} open={() => setOpen(true)} />
      {isOpen && (
        <Side title={label} close={() => setOpen(false)} isDirty={isTouched}>
          {/* Once submitted, input is not lost if the drawer is closed. */}
          <div onChange={() => setTouched(true)} onSubmit={() => setTouched(false)}>
            {children(() => setOpen(false))}
          </div>
        </Side>
      )}
    </>
  );
}

/** A drawer with one form, for creating or sending a whole resource. */
export function FormDrawer({
  title,
  label,
  close,
  onSubmit,
  isPending,
  isDisabled = false,
  error,
  children,
}: {
  title: string;
  /** Label of the submit button. */
  label: string;
  close: () => void;
  onSubmit: (form: HTMLFormElement) => void;
  isPending: boolean;
  isDisabled?: boolean;
  error: Error | null;
  children: ReactNode;
}): ReactNode {
  const [isTouched, setTouched] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    event.stopPropagation();
    onSubmit(event.currentTarget);
  };
  return (
    <Side title={title} close={close} isDirty={isTouched}>
      <form onSubmit={submit} onChange={() => setTouched(true)}>
        <Stack>
          {children}
          <Failed error={error} />
          <Group>
            <Button type="submit" loading={isPending} disabled={isDisabled}>
              {label}
            </Button>
          </Group>
        </Stack>
      </form>
    </Side>
  );
}

/** The button that switches between a chart and its values as a table. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { t } from '../texts/texts.ts';

type TableSwitchProps = {
  readonly title: string;
  readonly isTable: boolean;
  readonly onChange: (isTable: boolean) => void;
};

export function TableSwitch({ title, isTable, onChange }: TableSwitchProps): ReactNode {
  return (
    <Button
      size="compact-xs"
      mih={24}
      variant="subtle"
      color="gray"
      c="dimmed"
      aria-pressed={isTable}
      aria-label={`${isTable ? t('Show as a chart') : t('Show as a table')}: ${title}`}
      onClick={() => onChange(!isTable)}
    >
      {isTable ? t('Chart') : t('Table')}
    </Button>
  );
}

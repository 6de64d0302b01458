/** An example receiver that verifies requests. */
import { Code, Group, SegmentedControl, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { Copy } from '../../page.tsx';
import { receivers } from './receivers.ts';
import { t } from '../../texts/texts.ts';

const languages = Object.keys(receivers) as (keyof typeof receivers)[];

export function Receiver(): ReactNode {
  const [language, setLanguage] = useState<keyof typeof receivers>('TypeScript');
  const code = receivers[language];
  return (
    <details>
      <summary>
        <Text size="sm" component="span">
          {t('Example receiver')}
        </Text>
      </summary>
      <Group justify="space-between" py="xs">
        <SegmentedControl
          size="xs"
          aria-label={t('Language')}
          data={languages}
          value={language}
          onChange={setLanguage}
        />
        <Copy text={code} label={t('Copy the receiver')} />
      </Group>
      <Code block tabIndex={0}>
        {code}
      </Code>
    </details>
  );
}

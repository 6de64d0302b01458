/** The feed as a viewer sees it, what determines its order, and earlier versions. */
import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useParameters } from '../../location.ts';
import { Page } from '../../page.tsx';
import { FeedPreview } from './feed-preview.tsx';
import { FeedRules } from './feed-rules.tsx';
import { FeedVersions } from './feed-versions.tsx';
import { FeedWeights } from './feed-weights.tsx';
import { t } from '../../texts/texts.ts';

const tabs = [
  { name: 'preview', label: t('Preview'), Content: FeedPreview },
  { name: 'weights', label: t('Weights'), Content: FeedWeights },
  { name: 'rules', label: t('Rules'), Content: FeedRules },
  { name: 'versions', label: t('Versions'), Content: FeedVersions },
];

export function FeedPage(): ReactNode {
  const [{ tab = 'preview' }, change] = useParameters();
  return (
    <Page title={t('Feed')} curl={{ path: '/v1/feed', query: { explain: 'true' } }}>
      <Tabs value={tab} onChange={(value) => change({ tab: value })} keepMounted={false}>
        <Tabs.List mb="md">
          {tabs.map(({ name, label }) => (
            <Tabs.Tab key={name} value={name}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ name, Content }) => (
          <Tabs.Panel key={name} value={name}>
            <Content />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}

/** Contains an error of a page or a part of it, so that everything around it stays usable. */
import { Alert, Button, Text } from '@mantine/core';
import { Component, useState, type ReactNode } from 'react';
import { lookForUpgrade } from './upgrade.ts';
import { t } from './texts/texts.ts';

/** The code of a page, or of a part of one, could not be loaded. */
export class NotLoadedError extends Error {}

type Props = {
  children: ReactNode;
  /** Whether this is a whole page, so that no input elsewhere can be lost. */
  isPage: boolean;
  /** Called before the children are rendered again. */
  onRetry?: (() => void) | undefined;
};

export class Boundary extends Component<Props, { error: Error | null }> {
  override state = { error: null };

  static getDerivedStateFromError(error: unknown): { error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return <Problem error={error} isPage={this.props.isPage} retry={() => this.#retry()} />;
  }

  #retry(): void {
    this.props.onRetry?.();
    this.setState({ error: null });
  }
}

const question = 'This requires a reload, which discards unsaved changes. Reload?';

function Problem({
  error,
  isPage,
  retry,
}: {
  error: Error;
  isPage: boolean;
  retry: () => void;
}): ReactNode {
  const [isLooking, setLooking] = useState(false);
  const isNotLoaded = error instanceof NotLoadedError;
  const tryAgain = async () => {
    setLooking(true);
    // After a failure, browsers don't request a module again until a reload.
    const needsReload = isNotLoaded && (await lookForUpgrade()) !== 'away';
    if (needsReload && (isPage || window.confirm(question))) window.location.reload();
    else retry();
    setLooking(false);
  };
  return (
    <Alert
      role="alert"
      color={isNotLoaded ? 'yellow' : 'red'}
      title={
        isNotLoaded
          ? isPage
            ? t('This page could not be loaded')
            : t('This part could not be loaded')
          : isPage
            ? t('An error occurred on this page')
            : t('An error occurred in this part')
      }
    >
      <Text size="sm">
        {isNotLoaded
          ? t('The service cannot be reached, or it was upgraded since you opened the console.')
          : error.message}
      </Text>
      <Button
        mt="sm"
        size="xs"
        variant="default"
        loading={isLooking}
        onClick={() => void tryAgain()}
      >
        {t('Try again')}
      </Button>
    </Alert>
  );
}

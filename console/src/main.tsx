import '@mantine/core/styles.css';
import {
  Alert,
  Badge,
  createTheme,
  MantineProvider,
  type CSSVariablesResolver,
} from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { Boundary } from './boundary.tsx';

const client = new QueryClient({
  defaultOptions: {
    // The client has tried again already, and says so at once where the browser has no network.
    queries: { staleTime: 2_000, retry: false, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});

/** Shades whose contrast is enough for text, in light and in dark. */
const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 8, dark: 8 },
  autoContrast: true,
  respectReducedMotion: true,
  // A narrow table is scrolled; a word that is cut says nothing.
  components: {
    Badge: Badge.extend({ styles: { label: { overflow: 'visible' } } }),
    // In the colour of its alert, a title has too little contrast.
    Alert: Alert.extend({ styles: { title: { color: 'var(--mantine-color-text)' } } }),
  },
});

const variables: CSSVariablesResolver = ({ colors }) => {
  const faint = (color: string) => ({
    '--mantine-color-dimmed': color,
    '--mantine-color-placeholder': color,
  });
  return {
    variables: {},
    light: faint(colors.gray[7] ?? ''),
    dark: faint(colors.dark[1] ?? ''),
  };
};

const root = document.querySelector('#root');
if (root !== null) {
  createRoot(root).render(
    <MantineProvider defaultColorScheme="auto" theme={theme} cssVariablesResolver={variables}>
      <QueryClientProvider client={client}>
        <Boundary isPage>
          <App />
        </Boundary>
      </QueryClientProvider>
    </MantineProvider>,
  );
}

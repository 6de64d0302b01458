/** The console's theme: colors, density, and sufficient contrast in light and dark mode. */
import {
  Alert,
  Badge,
  createTheme,
  type CSSVariablesResolver,
  type MantineColorsTuple,
} from '@mantine/core';

const brand: MantineColorsTuple = [
  '#f3f0ff',
  '#e6e0ff',
  '#cabfff',
  '#ac9aff',
  '#937bff',
  '#7f61fa',
  '#6f4cf0',
  '#5a32dd',
  '#4b27bd',
  '#3c1f98',
];

export const theme = createTheme({
  colors: { brand },
  primaryColor: 'brand',
  primaryShade: { light: 7, dark: 7 },
  autoContrast: true,
  respectReducedMotion: true,
  defaultRadius: 'md',
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  headings: { fontWeight: '650' },
  // A narrow table scrolls, because a truncated word is useless.
  components: {
    Badge: Badge.extend({ styles: { label: { overflow: 'visible' } } }),
    Paper: { defaultProps: { radius: 'lg' } },
    Table: { defaultProps: { verticalSpacing: 7, highlightOnHover: true, fz: 'sm' } },
    // Lets the keyboard scroll a wide table on a narrow screen.
    TableScrollContainer: {
      defaultProps: { scrollAreaProps: { viewportProps: { tabIndex: 0 } } },
    },
    // A dialog is not a page, so its header is not a banner.
    ModalHeader: { defaultProps: { role: 'none' } },
    DrawerHeader: { defaultProps: { role: 'none' } },
    // A title in its alert's color would have too little contrast.
    Alert: Alert.extend({ styles: { title: { color: 'var(--mantine-color-text)' } } }),
  },
});

/**
 * The background is distinct from surfaces, and chart colors can be told apart without color
 * vision.
 */
export const variables: CSSVariablesResolver = ({ colors }) => {
  const faint = (color: string) => ({
    '--mantine-color-dimmed': color,
    '--mantine-color-placeholder': color,
  });
  return {
    variables: {},
    light: {
      ...faint(colors.gray[7] ?? ''),
      // Red text on white needs the darkest red.
      '--mantine-color-red-outline': colors.red[9],
      '--console-ground': '#f6f6fa',
      '--console-surface': '#ffffff',
      '--console-border': '#e3e2ec',
      '--console-active': '#ece7ff',
      '--console-active-text': '#3c1f98',
      '--console-good': '#0b6b46',
      '--console-bad': '#b42318',
      '--chart-1': '#5a32dd',
      '--chart-2': '#d2542f',
      '--chart-3': '#0f7f83',
      '--chart-4': '#9a6700',
      '--chart-5': '#a3338f',
      '--chart-6': '#3a6fb0',
      '--chart-before': '#8b8a9b',
      '--chart-grid': '#e9e8f0',
    },
    dark: {
      ...faint(colors.dark[1] ?? ''),
      '--mantine-color-body': '#1b1a22',
      // Links keep enough contrast in a hovered table row.
      '--mantine-color-anchor': brand[3],
      '--console-ground': '#131219',
      '--console-surface': '#1b1a22',
      '--console-border': '#34323f',
      '--console-active': '#332a5c',
      '--console-active-text': '#e6e0ff',
      '--console-good': '#5fd3a1',
      '--console-bad': '#ff9b8e',
      '--chart-1': '#a08bff',
      '--chart-2': '#ff9a76',
      '--chart-3': '#4cc9c9',
      '--chart-4': '#e0b04a',
      '--chart-5': '#e58ad4',
      '--chart-6': '#86b6f2',
      '--chart-before': '#8b8a9b',
      '--chart-grid': '#2c2a36',
    },
  };
};

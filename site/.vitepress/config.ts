import { defineConfig } from 'vitepress';
import { base } from '../relative.ts';
import { sidebar } from '../sidebar.ts';

export default defineConfig({
  lang: 'en',
  title: 'Reelfeed',
  description: 'Guides to Reelfeed, a short-form video feed service that a team runs itself',
  base,
  srcDir: './pages',
  outDir: './dist',
  cacheDir: '../node_modules/.cache/vitepress',
  // The chunks' names and the site's data are in one file instead of in each page.
  metaChunk: true,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  ignoreDeadLinks: [/^http:\/\/localhost/, /^\.?\/(reference|errors|files)\//],
  markdown: {
    // The guides are plain Markdown: what looks like a tag in them is text.
    html: false,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(markdown) {
      // The service's own pages are beside the site, so its router must not look for them.
      const { link_open: openLink } = markdown.renderer.rules;
      markdown.renderer.rules['link_open'] = (tokens, index, options, env, self) => {
        const token = tokens[index];
        const address = token?.attrGet('href') ?? '';
        if (/^\.?\/(reference|errors|files)\//.test(address)) token?.attrSet('target', '_self');
        return (
          openLink?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options)
        );
      };
    },
  },
  themeConfig: {
    outline: [2, 3],
    search: { provider: 'local' },
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'API reference', link: '/reference/', target: '_self' },
      { text: 'Error codes', link: '/errors', target: '_self' },
    ],
    sidebar: sidebar(),
    docFooter: { prev: 'Before', next: 'Next' },
  },
});

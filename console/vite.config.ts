import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Addresses are relative, so that the console also works below a path of a reverse proxy.
export default defineConfig({
  base: './',
  plugins: [react()],
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0 },
});

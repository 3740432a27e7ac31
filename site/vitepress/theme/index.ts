/**
 * The theme of VitePress with the parts that run in pages: the lanes of the start page, the editor
 * of `play`, the time line of `simulator`, and the Run buttons of code.
 */
import { defineAsyncComponent, h } from 'vue';
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import Lanes from './Lanes.vue';
import RunProgram from './RunProgram.vue';
import '@demo-shared/page/view-colors.css';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'home-hero-image': () => h(Lanes) }),
  enhanceApp({ app }) {
    // Only their own pages load them.
    app.component(
      'Play',
      defineAsyncComponent(() => import('./Play.vue')),
    );
    app.component(
      'Simulator',
      defineAsyncComponent(() => import('./simulator/Simulator.vue')),
    );
    app.component('RunProgram', RunProgram);
  },
} satisfies Theme;

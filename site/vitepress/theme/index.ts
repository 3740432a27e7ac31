/**
 * The theme of VitePress with the parts that run in pages: the lanes of the start page, the
 * editor of `play`, and the time line of `simulator`.
 */
import { defineAsyncComponent, h } from 'vue';
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import Lanes from './Lanes.vue';
import Play from './Play.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'home-hero-image': () => h(Lanes) }),
  enhanceApp({ app }) {
    app.component('Play', Play);
    // Only its own page loads it.
    app.component(
      'Simulator',
      defineAsyncComponent(() => import('./simulator/Simulator.vue')),
    );
  },
} satisfies Theme;

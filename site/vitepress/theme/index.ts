/**
 * The theme of VitePress with the parts that run in pages: the lanes of the start page, and
 * the editor of `play`.
 */
import { h } from 'vue';
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
  },
} satisfies Theme;

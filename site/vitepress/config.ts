/** The configuration of VitePress. `settings.json` is written when the source is prepared. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type DefaultTheme } from 'vitepress';
import { toHeadingSlug } from './heading-slug.ts';
import { addRunButtons } from './run-buttons.ts';

interface Settings {
  readonly checkout: string;
  readonly internals: readonly string[];
  /** The paths of the entries of the package below `reference/api`. */
  readonly entries: readonly string[];
  readonly sections: readonly {
    readonly title: string;
    readonly pages: readonly { readonly title: string; readonly path: string }[];
  }[];
}

const settings = JSON.parse(
  readFileSync(join(import.meta.dirname, 'settings.json'), 'utf8'),
) as Settings;
const { sections, internals, checkout } = settings;

/**
 * Where the source of a page can be edited, as `https://example.org/edit/main/docs/`. Without it
 * there is no link.
 */
const editAddress = process.env['DOCS_EDIT_ADDRESS'];

const isInternal = (path: string): boolean => internals.some((start) => path.startsWith(start));
const toLink = (path: string): string => `/${path.replace(/\.md$/, '')}`;

const API: DefaultTheme.SidebarItem = {
  text: 'API',
  items: [
    { text: 'All entries', link: '/reference/api/' },
    ...settings.entries.map((entry) => ({ text: entry, link: `/reference/api/${entry}/` })),
  ],
};
const PROJECT_PAGES = ['CHANGELOG', 'CONTRIBUTING', 'SECURITY'] as const;
const PROJECT: DefaultTheme.SidebarItem = {
  text: 'Project',
  items: PROJECT_PAGES.map((name) => ({ text: name.toLowerCase(), link: `/${name}` })),
};

/** Sections that share a sidebar. */
interface Area {
  /** How the titles of its sections begin. */
  readonly titles: readonly string[];
  /** What its sidebar has at the end. */
  readonly last?: DefaultTheme.SidebarItem;
  /** The addresses of pages that are not in the table of contents, and have its sidebar. */
  readonly morePages?: readonly string[];
}

/** All sections without an area of their own are in the last one. */
const REST: Area = {
  titles: [],
  last: PROJECT,
  morePages: PROJECT_PAGES.map((name) => `/${name}`),
};
const AREAS: readonly Area[] = [
  { titles: ['Start', 'Guides', 'Bindings'] },
  { titles: ['RedBlue', 'Operate'] },
  { titles: ['Reference'], last: API },
  REST,
];

const findArea = (section: string): Area =>
  AREAS.find(({ titles }) => titles.some((title) => section.startsWith(title))) ?? REST;

/** Whether all pages of a folder are in one area. */
function isOfOneArea(folder: string): boolean {
  const areas = sections
    .filter(({ pages }) => pages.some(({ path }) => toFolder(path) === folder))
    .map(({ title }) => findArea(title));
  return new Set(areas).size === 1;
}

const toFolder = (path: string): string => `/${path.slice(0, path.lastIndexOf('/') + 1)}`;

/**
 * Returns the address that the sidebar of a page is for: its whole folder if possible, since each
 * page has the list of all.
 */
function toPlace(path: string): string {
  const folder = toFolder(path);
  return folder !== '/' && isOfOneArea(folder) ? folder : toLink(path);
}

/** Returns the sidebar of an area, by the addresses that it is for. */
function createSidebar(area: Area): DefaultTheme.SidebarMulti {
  const ofArea = sections.filter(({ title }) => findArea(title) === area);
  const items: DefaultTheme.SidebarItem[] = ofArea.map(({ title, pages }) => ({
    text: title,
    items: pages.map((page) => ({ text: page.title, link: toLink(page.path) })),
  }));
  if (area.last !== undefined) items.push(area.last);
  const places = ofArea.flatMap(({ pages }) => pages.map(({ path }) => toPlace(path)));
  places.push(...(area.morePages ?? []));
  return Object.fromEntries(places.map((place) => [place, items]));
}

/** The start page of VitePress has no landmark for its content. */
const addLandmark = (html: string): string =>
  html.replace('<div class="VPContent is-home"', '<div role="main" class="VPContent is-home"');

export default defineConfig({
  title: 'Correctables',
  description:
    'One call, several views of its result: an early one from near, and a final one that confirms or corrects it.',
  lang: 'en',
  base: process.env['DOCS_BASE'] ?? '/docs/',
  outDir: '../public',
  cacheDir: '../cache',
  cleanUrls: false,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  transformHtml: addLandmark,
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: toHeadingSlug },
    config: addRunButtons,
  },
  themeConfig: {
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/start/overview' },
      { text: 'Guides', link: '/guides/views' },
      {
        text: 'Try',
        items: [
          { text: 'React shop', link: '/examples/react-shop' },
          { text: 'Play', link: '/play' },
          { text: 'Simulator', link: '/simulator' },
        ],
      },
      { text: 'Compare', link: '/start/comparison' },
      { text: 'RedBlue', link: '/redblue/concepts' },
      { text: 'Reference', link: '/reference/error-codes' },
      {
        text: 'More',
        items: [
          { text: 'Evidence', link: '/plots' },
          { text: 'Internals', link: '/ARCHITECTURE' },
        ],
      },
    ],
    sidebar: Object.assign({ '/reference/api/': [API] }, ...AREAS.map(createSidebar)),
    search: {
      provider: 'local',
      options: {
        _render: (source, env, markdown) => {
          const path = env.relativePath;
          if (isInternal(path) || path.startsWith('reference/api/')) return '';
          return markdown.render(source, env);
        },
      },
    },
    ...(editAddress !== undefined && { editLink: { pattern: `${editAddress}:path` } }),
  },
  vite: {
    resolve: {
      alias: [
        { find: '@landing', replacement: join(checkout, 'demo/landing') },
        { find: '@demo-shared', replacement: join(checkout, 'demo/shared') },
        { find: '@simulator', replacement: join(checkout, 'site/simulator') },
        // The simulated sites use it for checksums.
        { find: 'node:zlib', replacement: join(checkout, 'site/simulator/zlib.ts') },
        { find: /^correctables$/, replacement: join(checkout, 'dist/index.js') },
        {
          find: /^correctables\/(.+)$/,
          replacement: join(checkout, 'dist/$1/index.js'),
        },
      ],
    },
    build: { target: 'es2022', chunkSizeWarningLimit: 2000 },
  },
});

/**
 * The page's service worker: keeps the page itself, so that it can be loaded where nothing answers.
 * Its data is the cache's.
 */
const SHELL = ['/', '/page.js'];

addEventListener('install', (event) => {
  event.waitUntil(caches.open('shell').then((shell) => shell.addAll(SHELL)));
});

addEventListener('fetch', (event) => {
  if (!SHELL.includes(new URL(event.request.url).pathname)) return;
  event.respondWith(
    fetch(event.request).catch(() => caches.match(event.request, { ignoreSearch: true })),
  );
});

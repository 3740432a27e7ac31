/** The page of the browser test of `correctables/http`: requests views and records what arrives. */
import { createHttpSession, fetchViews } from '../../src/http/index.ts';

const seen: string[] = [];
const views = fetchViews(['weak', 'strong'])<string>('/stock', {
  session: createHttpSession(['token']),
});
views.subscribe({
  next: ({ value, level, final }) => seen.push(`${value} ${level} ${final}`),
  error: ({ code }) => seen.push(code),
});
Object.assign(globalThis, { seen, leave: () => views.cancel() });

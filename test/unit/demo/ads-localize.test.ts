/** Which of a browser's languages ads are shown in. */
import { expect, test } from 'vitest';
import { readableLocale } from '../../../demo/ad-server/localize.ts';

test.each([
  [['en-IE', 'de'], 'en-IE'],
  [['en-US@posix'], 'en-US'],
  [['de_DE.UTF-8', 'fr'], 'fr'],
  [['C', ''], 'en'],
  [[], 'en'],
])('locale: a browser that speaks %j → %s', (languages, locale) => {
  expect(readableLocale(languages)).toBe(locale);
  expect(() => new Intl.NumberFormat(readableLocale(languages))).not.toThrow();
});

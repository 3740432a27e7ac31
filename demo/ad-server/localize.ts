/** Post-processing: an ad in the language and the currency format of its viewer. */
import type { Ad } from './contract.ts';
import type { Creative } from './creative.ts';

/** An ad as it is delivered. */
export interface LocalAd {
  readonly id: string;
  readonly text: string;
  /** A picture, as SVG. */
  readonly media: string;
}

/** Formats are expensive to make and free to use again. */
const formats = new Map<string, Intl.NumberFormat>();

/**
 * The first of a browser's languages that `Intl` can read, else `en`. Where the machine's language is POSIX, Chromium
 * reports `en-US@posix`.
 */
export function readableLocale(languages: readonly string[]): string {
  for (const language of languages) {
    try {
      return new Intl.Locale(language.replace(/[@.].*/, '')).toString();
    } catch {
      // Not a language tag: the next one may be.
    }
  }
  return 'en';
}

/** @param locale as in `en-IE` */
export function localize(ad: Ad, creative: Creative, locale: string): LocalAd {
  let format = formats.get(locale);
  if (format === undefined) {
    format = new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' });
    formats.set(locale, format);
  }
  const [language = 'en'] = locale.split('-');
  const slogan = creative.texts[language] ?? creative.texts['en'] ?? '';
  return { id: ad.id, text: `${ad.brand}: ${slogan} ${format.format(ad.priceCents / 100)}`, media: creative.media };
}

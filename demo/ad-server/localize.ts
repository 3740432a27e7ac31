/** Post-processes ads: formats an ad in the language and the currency format of its viewer. */
import type { Ad } from './contract.ts';
import type { Creative } from './creative.ts';

/** An ad as it is delivered. */
export interface LocalAd {
  readonly id: string;
  readonly text: string;
  /** A picture, as SVG. */
  readonly media: string;
}

/** A cache of number formats, because they are expensive to create. */
const formats = new Map<string, Intl.NumberFormat>();

/**
 * Returns the first of a browser's languages that `Intl` accepts, otherwise `en`. If the language
 * of the machine is POSIX, Chromium reports `en-US@posix`, which `Intl` rejects.
 */
export function readableLocale(languages: readonly string[]): string {
  for (const language of languages) {
    try {
      return new Intl.Locale(language.replace(/[@.].*/, '')).toString();
    } catch {
      // This is not a valid language tag, so try the next one.
    }
  }
  return 'en';
}

/** @param locale for example `en-IE` */
export function localize(ad: Ad, creative: Creative, locale: string): LocalAd {
  let format = formats.get(locale);
  if (format === undefined) {
    format = new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' });
    formats.set(locale, format);
  }
  const [language = 'en'] = locale.split('-');
  const slogan = creative.texts[language] ?? creative.texts['en'] ?? '';
  return {
    id: ad.id,
    text: `${ad.brand}: ${slogan} ${format.format(ad.priceCents / 100)}`,
    media: creative.media,
  };
}

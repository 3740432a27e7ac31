/** The ad server's page: the same code as in the service, in a browser. */
import { make } from '../../shared/page/dom.ts';
import { picture, runPage } from '../../shared/page/page.ts';
import { adApplication } from '../application.ts';
import { adContract } from '../contract.ts';
import { contentOver } from '../creative.ts';
import { adData } from '../data.ts';
import { readableLocale, type LocalAd } from '../localize.ts';

await runPage<LocalAd>({
  things: 'ads',
  hasContent: true,
  contract: adContract,
  open: (store, http, about) =>
    adApplication({
      store,
      content: contentOver(http),
      data: adData(about),
      locale: readableLocale(navigator.languages),
    }),
  item: ({ text, media }) => make('li', '', picture(media), make('span', '', text)),
});

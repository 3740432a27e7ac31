/** The shop at each site. Each product has so much stock that a sale needs no check. */
import { counter, defineService, red, table, type Service } from 'correctables/server';
import { shop } from './contract.ts';

const PIECES = 100;
/** Half a kilobyte, as a short text about a product has. */
const DESCRIPTION = 'A text about the product. '.repeat(20);

export const service: Service = defineService(shop, {
  tables: { products: table({ sold: counter() }) },
  shadowOperations: ({ products }) => ({
    sell: red(({ product }: { readonly product: string }) => [products.row(product).sold.add(1)]),
  }),
  generators: {
    show: ({ product }, { tables }) => ({
      left: PIECES - tables.products.row(product).sold,
      description: DESCRIPTION,
    }),
    sell: (args, { shadow }) => shadow.sell(args, null),
  },
});

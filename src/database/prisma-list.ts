import type { Page, PagedList } from '../paging.ts';

/** The methods of a Prisma model that `prismaList` uses. */
interface Model<Where, Item> {
  findMany(query: {
    where: { AND: [Where, { id: { gt?: string; lt?: string } }] };
    orderBy: { id: 'asc' | 'desc' };
    take: number;
  }): Promise<Item[]>;
  count(query: { where?: Where }): Promise<number>;
}

/** Creates a paged list of those rows of a Prisma model that match a filter. */
export function prismaList<Where, Item extends { id: string }>(
  model: Model<Where, Item>,
  where: Where,
): PagedList<Item> {
  return {
    page: ({ after, before, limit, descending }: Page) =>
      model.findMany({
        where: { AND: [where, { id: { ...(after && { gt: after }), ...(before && { lt: before }) } }] },
        orderBy: { id: descending ? 'desc' : 'asc' },
        take: limit,
      }),
    count: () => model.count({ where }),
  };
}

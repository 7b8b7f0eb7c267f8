// For Prisma's command line, which is in tools/. A plain object needs no Prisma package.
export default {
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
};

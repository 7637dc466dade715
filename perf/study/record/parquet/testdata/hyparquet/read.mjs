// Prints a Parquet file as lines of JSON: its columns' names, its key-value metadata, then
// each row. Values are text, numbers in the shortest form that reads back as the same
// number; what is missing is null. Packages are looked up in the folder of argument two.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [path, packages] = process.argv.slice(2)
const require = createRequire(packages + '/')
const load = async name => import(pathToFileURL(require.resolve(name)))
const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await load('hyparquet')
const { compressors } = await load('hyparquet-compressors')

const file = await asyncBufferFromFile(path)
const metadata = await parquetMetadataAsync(file)
const columns = metadata.schema.slice(1).map(field => field.name)
const print = value => console.log(JSON.stringify(value))
print(columns)
print(Object.fromEntries(metadata.key_value_metadata.map(({ key, value }) => [key, value])))
for (const row of await parquetReadObjects({ file, metadata, compressors })) {
  print(columns.map(name => row[name] === null || row[name] === undefined ? null : String(row[name])))
}

package sparse

import (
	"context"
	"fmt"

	"presage/perf/campaign"
	"presage/perf/spmv"
	"presage/perf/store"
)

// productsKind is the kind of jobs that simulate products of a matrix.
const productsKind = "spmv"

// productsSpec describes products of a matrix at a block size. The matrix travels by
// content, in the store.
type productsSpec struct {
	Matrix   string // digest
	Shape    spmv.Shape
	Hardware []spmv.Hardware
}

// matrixKey returns the key of a matrix in the store. Values are not part of the digest,
// as no simulation depends on them.
func matrixKey(digest string) (store.Key, error) { return store.NewKey("spmv-matrix", 1, digest) }

// job returns the job that simulates the batch, and keeps the matrix in the store.
func (b *batch) job(st *store.Store) (campaign.Job, error) {
	m := b.sim.Matrix
	digest := m.Digest()
	travels, err := matrixKey(digest)
	if err != nil {
		return campaign.Job{}, err
	}
	if !st.Has(travels) {
		if err := st.Save(travels, m); err != nil {
			return campaign.Job{}, err
		}
	}
	key, err := b.key()
	if err != nil {
		return campaign.Job{}, err
	}
	return campaign.NewJob(productsKind, fmt.Sprintf("products of %s in blocks of %d×%d", m.Name, b.shape.R, b.shape.C), productsSpec{digest, b.shape, b.hardware}, key)
}

// Work returns the kinds of jobs of this package.
func Work() []campaign.Work {
	return []campaign.Work{campaign.NewWork(productsKind, func(ctx context.Context, at campaign.Site, s productsSpec) error {
		key, err := matrixKey(s.Matrix)
		if err != nil {
			return err
		}
		m := new(spmv.Matrix)
		if err := at.Store.Load(key, m); err != nil {
			return err
		}
		if got := m.Digest(); got != s.Matrix {
			return fmt.Errorf("perf: spmv: the matrix of the job is %s, that in the store %s", s.Matrix, got)
		}
		sim, err := spmv.NewSimulator(m)
		if err != nil {
			return err
		}
		_, err = (&batch{sim: sim, shape: s.Shape, hardware: s.Hardware}).outcomes(ctx, at.Store)
		return err
	})}
}

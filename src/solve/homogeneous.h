// Linear programs by a homogeneous self-dual embedding: Ye, Todd and Mizuno (1994) in the
// simplified form of Xu, Hung and Ye (1996; Andersen and Ye, "On a homogeneous algorithm for the
// monotone complementarity problem", 1999), with Mehrotra's predictor and corrector (1992).
//
// The program min c'x, G x + s = h, s >= 0 (signs of variables are rows of G) and its dual become
// one system in x, s, the dual variables z, and two numbers tau and kappa:
//   G'z + c tau = 0,   s + G x - h tau = 0,   kappa + c'x + h'z = 0,   s, z, tau, kappa >= 0.
// With tau > 0 in the end, x / tau and z / tau solve the program and its dual; with kappa > 0 one
// of them has no solution.
//
// Why it stands beside solve/interior_point.h: here the residuals and the barrier parameter mu
// shrink in the same proportion in every step, which is the invariant of the method. So where the
// best answer is not unique, the one that is reached follows from the starting point, and solvers
// of this kind that begin at the usual least-squares point (Vandenberghe, "The CVXOPT linear and
// quadratic cone program solvers", 2010) reach the same one. Published schedulers were
// run with such solvers. Use interior_point.h elsewhere: it needs fewer operations for each step.
//
// Variables that are marked as shared are free: a level may have either sign. Equal rows and
// variables that were merged (`copies`) count as often as they stand for. Time: ten to twenty
// factorisations of the normal equations (solve/normal_system.h).
#pragma once

#include "solve/linear_program.h"

namespace muster {

// The answer among equals depends on both constants; the objective does not. The defaults follow
// from results alone: of Gavel's 144 published vectors (tests/parity_gavel/hierarchical_test.cc)
// 143 are met with these values, and at most 123 with any of their neighbours.
struct HomogeneousOptions {
  double tolerance = 1e-8;  // relative: residuals and gap
  // Rounds of equilibration. A round halves the distance of the largest entries from one, in
  // logarithm (Ruiz 2001): after three, rows a factor of 100 apart are within 100^(1/8) = 1.8.
  int rounds = 3;
  // The part of a step that is taken, near one as usual (Mehrotra 1992): of Newton's whole step, or
  // of the way to the boundary where that is shorter.
  double step = 0.99;
};

LinearSolution solve_homogeneous(const LinearProgram& program,
                                 const HomogeneousOptions& options = {});

}  // namespace muster
